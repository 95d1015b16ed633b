// Plays the notification sound in the page, as VS Code has no sound API for extensions.

/** Frequencies of the two tones, Hz. */
const TONES = [660, 880];
/** Delay between tones, and total length, seconds. */
const STEP_S = 0.12;
const LENGTH_S = 0.5;

/** Silent if the browser does not allow audio. */
export function chime(): void {
  const audio = new AudioContext();
  const volume = audio.createGain();
  volume.connect(audio.destination);
  volume.gain.setValueAtTime(0.1, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + LENGTH_S);
  for (const [index, frequency] of TONES.entries()) {
    const tone = audio.createOscillator();
    tone.frequency.value = frequency;
    tone.connect(volume);
    tone.start(audio.currentTime + index * STEP_S);
    tone.stop(audio.currentTime + LENGTH_S);
  }
  // A tone that could not be played must not sound later.
  setTimeout(() => void audio.close(), 2 * LENGTH_S * 1000);
}
