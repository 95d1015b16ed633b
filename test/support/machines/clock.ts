// The clock of a program on one of several machines: it can be set, as real ones are wrong.
// Imported before all else. What measures time (performance, timers) is not touched.
const RealDate = Date;
let offset = 0;

class MachineDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + offset);
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + offset;
  }
}

globalThis.Date = MachineDate as DateConstructor;

/** Sets the clock of this process. @param ms by which it is ahead of the real one */
export function setClock(ms: number): void {
  offset = ms;
}
