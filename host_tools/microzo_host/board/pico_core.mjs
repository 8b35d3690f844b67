// The instructions that rp2040js meets most often, by a table in place of its long chain of
// questions: about half the time. What is not here, or touches a peripheral, is left to rp2040js.
const FLASH = 0x10000000, RAM = 0x20000000;

// A function that executes one instruction of the chip and returns its cycles.
export function stepper(chip) {
  const { core, flash16, flashView, flash, sram, sramView } = chip;
  const r = core.registers;
  const flashBytes = flash.length, ramBytes = sram.length;

  const signs = (value) => {
    core.N = value < 0;
    core.Z = value === 0;
  };
  const sum = (a, b) => {
    const whole = a + b, value = whole | 0;
    signs(value);
    core.C = whole > 0xffffffff;
    core.V = ((a ^ value) & (b ^ value)) < 0;
    return value;
  };
  const difference = (a, b) => {
    const value = (a - b) | 0;
    signs(value);
    core.C = a >= b;
    core.V = ((a ^ b) & (a ^ value)) < 0;
    return value;
  };

  return () => {
    const at = r[15] - FLASH;
    if (core.interruptsUpdated || at >= flashBytes || at < 0) return core.executeInstruction();
    const code = flash16[at >> 1];
    const d = code & 7, n = (code >> 3) & 7, wide = (code >> 8) & 7;
    const five = (code >> 6) & 31, eight = code & 255;
    switch (code >> 11) {
      case 0b00000: // LSLS, MOVS
        if (five) core.C = (r[n] >>> (32 - five) & 1) === 1;
        r[d] = r[n] << five;
        signs(r[d] | 0);
        break;
      case 0b00001: // LSRS
        if (!five) return core.executeInstruction();
        core.C = (r[n] >>> (five - 1) & 1) === 1;
        r[d] = r[n] >>> five;
        signs(r[d] | 0);
        break;
      case 0b00011: { // ADDS, SUBS of a register or three bits
        const other = code & 0x400 ? five & 7 : r[five & 7];
        r[d] = code & 0x200 ? difference(r[n], other) : sum(r[n], other);
        break;
      }
      case 0b00100: // MOVS
        r[wide] = eight;
        signs(eight);
        break;
      case 0b00101: // CMP
        difference(r[wide], eight);
        break;
      case 0b00110: // ADDS
        r[wide] = sum(r[wide], eight);
        break;
      case 0b00111: // SUBS
        r[wide] = difference(r[wide], eight);
        break;
      case 0b01001: // LDR of a constant beside the code
        r[wide] = flashView.getUint32((at & ~3) + 4 + 4 * eight, true);
        r[15] += 2;
        return 2;
      case 0b01100: { // STR
        const to = r[n] + 4 * five - RAM;
        if (to < 0 || to & 3 || to >= ramBytes) return core.executeInstruction();
        sramView.setUint32(to, r[d], true);
        r[15] += 2;
        return 2;
      }
      case 0b01110: { // STRB
        const to = r[n] + five - RAM;
        if (to < 0 || to >= ramBytes) return core.executeInstruction();
        sram[to] = r[d];
        r[15] += 2;
        return 2;
      }
      case 0b01101: { // LDR
        const from = r[n] + 4 * five;
        if (from & 3) return core.executeInstruction();
        if (from >= RAM && from < RAM + ramBytes) r[d] = sramView.getUint32(from - RAM, true);
        else if (from >= FLASH && from < FLASH + flashBytes) {
          r[d] = flashView.getUint32(from - FLASH, true);
        } else return core.executeInstruction();
        r[15] += 2;
        return 2;
      }
      case 0b01111: { // LDRB
        const from = r[n] + five;
        if (from >= RAM && from < RAM + ramBytes) r[d] = sram[from - RAM];
        else if (from >= FLASH && from < FLASH + flashBytes) r[d] = flash[from - FLASH];
        else return core.executeInstruction();
        r[15] += 2;
        return 2;
      }
      case 0b10010: { // STR on the stack
        const to = r[13] + 4 * eight - RAM;
        if (to < 0 || to >= ramBytes) return core.executeInstruction();
        sramView.setUint32(to, r[wide], true);
        r[15] += 2;
        return 2;
      }
      case 0b10011: { // LDR from the stack
        const from = r[13] + 4 * eight - RAM;
        if (from < 0 || from >= ramBytes) return core.executeInstruction();
        r[wide] = sramView.getUint32(from, true);
        r[15] += 2;
        return 2;
      }
      case 0b11010: case 0b11011: { // B on a condition
        const condition = (code >> 8) & 15;
        if (condition >= 14) return core.executeInstruction();
        if (!core.checkCondition(condition)) break;
        r[15] += ((eight << 24) >> 23) + 4;
        return 2;
      }
      case 0b11100: // B
        r[15] += ((code << 21) >> 20) + 4;
        return 2;
      default:
        return core.executeInstruction();
    }
    r[15] += 2;
    return 1;
  };
}
