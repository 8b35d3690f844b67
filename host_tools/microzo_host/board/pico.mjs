// Runs a Raspberry Pi Pico's firmware in rp2040js; its USB serial port is standard input and output.
// node pico.mjs RP2040JS BOOTROM UF2 DISK: folder of the package, ROM, firmware, file system image.
// pico.py starts it. Flash is written by the ROM's two functions, which are taken over here, since
// rp2040js has no flash chip that obeys commands.
import fs from 'fs';
import path from 'path';
import { pathToFileURL } from 'url';
import { stepper } from './pico_core.mjs';

const [folder, romFile, uf2File, diskFile] = process.argv.slice(2);
const module = pathToFileURL(path.join(folder, 'dist', 'esm', 'index.js')).href;
const { ConsoleLogger, LogLevel, RP2040, USBCDC } = await import(module);

const FLASH = 0x10000000;
const DISK_AT = 0xa0000; // where MicroPython's port begins its file system on 2 MB of flash
const NANOS_PER_CYCLE = 8; // 125 MHz
const BATCH = 100000; // instructions between two looks at the serial port
const BKPT = 0xbe00, BX_LR = 0x4770;


const chip = new RP2040();
const { clock, core } = chip;
const step = stepper(chip);
chip.logger = new ConsoleLogger(LogLevel.Error);
const rom = fs.readFileSync(romFile);
chip.loadBootrom(new Uint32Array(rom.buffer.slice(rom.byteOffset, rom.byteOffset + rom.length)));
const uf2 = fs.readFileSync(uf2File);
for (let at = 0; at < uf2.length; at += 512) {
  chip.flash.set(uf2.subarray(at + 32, at + 288), uf2.readUInt32LE(at + 12) - FLASH);
}
chip.flash.set(fs.readFileSync(diskFile), DISK_AT);

// The ROM's table of functions: pairs of a two-letter name and an address.
const half = new Uint16Array(chip.bootrom.buffer);
const functions = {};
for (let at = half[0x14 / 2] / 2; half[at]; at += 2) {
  functions[String.fromCharCode(half[at] & 255, half[at] >> 8)] = half[at + 1] & ~1;
}
['RE', 'RP'].forEach((name, number) => {
  half[functions[name] / 2] = BKPT + number;
  half[functions[name] / 2 + 1] = BX_LR;
});
chip.onBreak = (number) => {
  const [at, second, third] = core.registers;
  if (number === 0) { // erase(at, bytes, ...)
    chip.flash.fill(255, at, at + second);
  } else { // program(at, source, bytes): bits only go from 1 to 0
    for (let i = 0; i < third; i++) chip.flash[at + i] &= chip.readUint8(second + i);
  }
};

const serial = new USBCDC(chip.usbCtrl);
let input = Buffer.alloc(0);
serial.onSerialData = (bytes) => { // all of them: a pipe may take less than is given
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
};
process.stdin.on('data', (bytes) => { input = Buffer.concat([input, bytes]); });
process.stdin.on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));

function feed() {
  const fifo = serial.txFIFO;
  const count = Math.min(input.length, fifo.size - fifo.itemCount);
  for (let i = 0; i < count; i++) fifo.push(input[i]);
  input = input.subarray(count);
}

function run() {
  let idle = 0;
  if (input.length) feed();
  for (let i = 0; i < BATCH; i++) {
    if (core.waiting) { // time leaps to what wakes it
      const skipped = clock.nanosToNextAlarm;
      clock.tick(skipped);
      idle += 1 + skipped / NANOS_PER_CYCLE;
      i += skipped / NANOS_PER_CYCLE;
    } else { // in fours: a look at the alarms takes as long as an instruction
      let cycles = step();
      for (let n = 0; n < 3 && !core.waiting; n++) cycles += step();
      clock.tick(cycles * NANOS_PER_CYCLE);
      i += 3;
    }
  }
  if (idle > BATCH / 2 && !input.length) setTimeout(run, 1);
  else setImmediate(run);
}
core.PC = FLASH;
run();
