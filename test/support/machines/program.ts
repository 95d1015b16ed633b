// What each program on a machine has in common: it is called by the test over Node's channel
// between parent and child, and ends with its parent.
import { setClock } from './clock';

export type Calls = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export function answerCalls(calls: Calls): void {
  const all: Calls = { ...calls, setClock: (ms: number) => setClock(ms) };
  process.on('message', ({ id, method, args }: Call) => {
    const run = async (): Promise<unknown> => {
      const call = all[method];
      if (!call) throw new Error(`There is no ${method}.`);
      return call(...(args as never[]));
    };
    run().then(
      (value) => process.send?.({ id, value }),
      (error: unknown) => {
        const { message = String(error), code } = Object(error) as { message?: string; code?: string };
        process.send?.({ id, error: { message, code } });
      },
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ ready: true });
}
