"""Shows a camera's picture to the model, corrects it by a button, and the model learns; again.

    mpremote cp device/examples/sensor_camera.py : run device/examples/live_button.py

Four LEDs show the class in binary. Button WRONG goes on to the next class, button RIGHT accepts
the one that is shown; then the model learns. It needs model.safetensors on the board. Ctrl-C saves
adapted.safetensors; after a power cut the run goes on from its journal.

For another sensor take sensor_accelerometer.Accelerometer or sensor_microphone.Microphone.
"""

import time

import machine
from sensor_camera import Camera

import microzo
from microzo.board import files

LEDS, WRONG, RIGHT = (2, 3, 4, 5), 14, 15  # pins
JOURNAL = "live.journal"


class Panel:
    """LEDs and two buttons that connect a pin to ground."""

    def __init__(self):
        self._leds = [machine.Pin(pin, machine.Pin.OUT) for pin in LEDS]
        self._wrong, self._right = (
            machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_UP) for pin in (WRONG, RIGHT)
        )

    def show(self, number):
        for bit, led in enumerate(self._leds):
            led.value(number >> bit & 1)

    def corrected(self, answer, classes):
        """The class that a person accepts; it begins with the model's."""
        self.show(answer)
        while not self._pressed(self._right):
            if self._pressed(self._wrong):
                answer = (answer + 1) % classes
                self.show(answer)
            time.sleep(0.01)
        return answer

    @staticmethod
    def _pressed(button):
        """True once the button is released again."""
        if button.value():
            return False
        while not button.value():
            time.sleep(0.01)
        return True


def begin(model):
    if files.exists(JOURNAL):
        print("going on with", JOURNAL)
        return microzo.resume(model, JOURNAL)
    return microzo.Trainer(model, "default", journal=JOURNAL)


def main(samples=None):
    """samples: how many pictures; None: until Ctrl-C."""
    model = microzo.load("model.safetensors")
    trainer = begin(model)
    camera = Camera(model)
    panel = Panel()
    picture = bytearray(model.sample_len)
    names = model.names()
    n = 0
    try:
        while samples is None or n < samples:
            camera.read_into(picture)
            answer = model.predict(picture)
            label = panel.corrected(answer, model.classes)
            step = trainer.step(picture, label)
            n += 1
            verdict = "right" if answer == label else "no, " + names[label]
            print("%d: %s, %s; %s" % (n, names[answer], verdict, step))
    except KeyboardInterrupt:
        print("stopped after %d pictures" % n)
    for line in trainer.outcomes():
        print(line)
    model.save("adapted.safetensors")


if __name__ == "__main__":
    main(globals().get("samples"))
