"""Finds the speech in a WAV file: Silero's model runs in ONNX Runtime on any OpenCL device.

The model is silero_vad.onnx of the package silero-vad.
"""

import argparse
import wave

import numpy as np
from session import add_arguments, session_of

RATE = 16000
WINDOW, CONTEXT = 512, 64  # Samples.


def samples_of(path):
    """The samples of a WAV file, from -1 to 1."""
    with wave.open(path) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE, 1, 2):
            raise SystemExit(f"{path}: one channel of 16 bits with {RATE} samples for each second is expected")
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def probabilities(session, sound):
    """The probability of speech for each window. The model keeps a state from window to window."""
    windows = np.pad(sound, (0, -len(sound) % WINDOW)).reshape(-1, WINDOW)
    state, context = np.zeros((2, 1, 128), np.float32), np.zeros(CONTEXT, np.float32)
    for window in windows:
        inputs = {"input": np.concatenate([context, window])[None], "state": state, "sr": np.array(RATE, np.int64)}
        output, state = session.run(["output", "stateN"], inputs)
        context = window[-CONTEXT:]
        yield float(output[0, 0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="silero_vad.onnx")
    parser.add_argument("sound", help="a WAV file with 16000 samples of 16 bits for each second")
    parser.add_argument("--threshold", type=float, default=0.5, help="the least probability (default: %(default)s)")
    add_arguments(parser)
    args = parser.parse_args()

    sound = samples_of(args.sound)
    found = [p >= args.threshold for p in probabilities(session_of(args.model, args), sound)]
    seconds = WINDOW / RATE
    edges = np.flatnonzero(np.diff([False, *found, False]))
    for first, last in zip(edges[::2], edges[1::2]):
        print(f"speech from {first * seconds:.2f} s to {last * seconds:.2f} s")
    print(f"{100 * np.mean(found):.0f} % of {len(found)} windows are speech")


if __name__ == "__main__":
    main()
