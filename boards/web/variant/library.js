// The functions of MicroPython's library.js that are arrow functions there: emcc 3.1.6 of Debian 12
// writes those without their names.
mergeInto(LibraryManager.library, {
    mp_js_ticks_ms: function () {
        return Date.now() - MP_JS_EPOCH;
    },
    mp_js_time_ms: function () {
        return Date.now();
    },
    mp_js_hook: function () {},
    mp_js_random_u32: function () {
        return globalThis.crypto.getRandomValues(new Uint32Array(1))[0];
    },
});
