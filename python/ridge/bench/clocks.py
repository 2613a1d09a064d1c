"""Clocks and throttling of a GPU through NVML itself: the driver brings the library, no package is needed. Where there is none, PyTorch is asked; what
nobody tells is None."""

import ctypes

SM_CLOCK = 1
# Bits of nvmlClocksThrottleReasons (nvml.h). An idle GPU and clocks that somebody has set are no throttling.
THROTTLING = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "temperature",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


class Clocks:
    """Of the GPU that PyTorch calls `device`. Needs no context on it."""

    def __init__(self, torch, device=0):
        self._torch = torch
        self._device = device
        self._nvml, self._handle = _open(torch, device)

    def mhz(self):
        if self._nvml is not None:
            value = ctypes.c_uint()
            if self._nvml.nvmlDeviceGetClockInfo(self._handle, SM_CLOCK, ctypes.byref(value)) == 0:
                return value.value
        return self._asked("clock_rate")

    def max_mhz(self):
        if self._nvml is not None:
            value = ctypes.c_uint()
            if self._nvml.nvmlDeviceGetMaxClockInfo(self._handle, SM_CLOCK, ctypes.byref(value)) == 0:
                return value.value
        return None

    def memory_mhz(self):
        if self._nvml is not None:
            value = ctypes.c_uint()
            if self._nvml.nvmlDeviceGetMaxClockInfo(self._handle, 2, ctypes.byref(value)) == 0:
                return value.value
        return None

    def throttled_by(self):
        """Why the clocks are held back now: a list, empty where they are not, None where nobody tells."""
        if self._nvml is None:
            return None
        bits = ctypes.c_ulonglong()
        if self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle, ctypes.byref(bits)) != 0:
            return None
        return [words for bit, words in THROTTLING.items() if bits.value & bit]

    def _asked(self, what):
        try:
            return int(getattr(self._torch.cuda, what)(self._device)) or None
        except Exception:  # amdsmi or pynvml is not installed, or does not know
            return None


def _open(torch, device):
    """(library, handle), or (None, None)."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2() != 0:
            return None, None
        handle = ctypes.c_void_p()
        uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
        if uuid is not None and nvml.nvmlDeviceGetHandleByUUID(("GPU-%s" % uuid).encode(), ctypes.byref(handle)) == 0:
            return nvml, handle
        # Without its id only a single GPU is the right one for certain.
        count = ctypes.c_uint()
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value == 1:
            if nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0:
                return nvml, handle
    except (OSError, AttributeError, RuntimeError):
        pass
    return None, None
