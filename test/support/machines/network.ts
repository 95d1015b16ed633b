// Several machines in one: Linux network namespaces with separate addresses and a bridge between
// them, made without root; or, if the system has none of that, addresses of the loopback. Programs
// run on a machine, and a machine can be cut off.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SUBNET = '10.83.0';

export interface Program {
  readonly pid: number;
  /** Calls one of its methods. Rejects with its error, or where it has ended. */
  call<T>(method: string, ...args: readonly unknown[]): Promise<T>;
  kill(): Promise<void>;
}

export interface Machine {
  readonly address: string;
  start(name: string, env?: Readonly<Record<string, string>>): Promise<Program>;
  setConnected(isConnected: boolean): Promise<void>;
}

export interface Network {
  readonly machines: readonly Machine[];
  readonly whyNot: string | undefined;
  close(): Promise<void>;
}

export async function network(count: number, isApart = true): Promise<Network> {
  const running: ChildProcess[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(running.splice(0).map(end));
  };
  try {
    if (!isApart) throw new Error('the loopback is asked for');
    return { machines: await namespaces(count, running), whyNot: undefined, close };
  } catch (error) {
    await close();
    const whyNot = (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? '';
    return { machines: await loopbacks(count, running), whyNot, close };
  }
}

async function namespaces(count: number, running: ChildProcess[]): Promise<readonly Machine[]> {
  if (process.platform !== 'linux') throw new Error(`${process.platform} has no network namespaces`);
  const hold = async (command: string, ...args: readonly string[]): Promise<number> => {
    const child = spawn(command, [...args, 'sh', '-c', 'echo ready; exec cat'], { stdio: ['pipe', 'pipe', 'pipe'] });
    running.push(child);
    let said = '';
    child.stderr.on('data', (text) => {
      said += String(text);
    });
    const first = await Promise.race([once(child.stdout, 'data'), once(child, 'exit'), once(child, 'error')]);
    if (String(first[0]).trim() === 'ready' && child.pid !== undefined) return child.pid;
    throw new Error(said || String(first[0]));
  };
  const user = ['--user', '--net', '--preserve-credentials'];
  const bridge = await hold('unshare', '--map-root-user', '--net');
  const within = (pid: number): readonly string[] => ['--target', String(pid), ...user];
  const script = (pid: number, text: string) => run('nsenter', [...within(pid), 'sh', '-ec', text]);
  await script(bridge, 'ip link add name hub type bridge; ip link set hub up');
  const machines: Machine[] = [];
  for (let number = 1; number <= count; number++) {
    const pid = await hold('nsenter', ...within(bridge), 'unshare', '--net');
    const address = `${SUBNET}.${number}`;
    await script(
      bridge,
      `ip link add port${number} type veth peer name own${number}; ip link set port${number} master hub up; ip link set own${number} netns ${pid}`,
    );
    await script(pid, `ip link set lo up; ip addr add ${address}/24 dev own${number}; ip link set own${number} up`);
    machines.push({
      address,
      start: (name, env) => start(name, { ...env, MACHINE_ADDRESS: address }, running, ['nsenter', ...within(pid)]),
      setConnected: async (isConnected) => {
        await script(bridge, `ip link set port${number} ${isConnected ? 'up' : 'down'}`);
      },
    });
  }
  return machines;
}

async function loopbacks(count: number, running: ChildProcess[]): Promise<readonly Machine[]> {
  const machines: Machine[] = [];
  for (let number = 1; number <= count; number++) {
    const own = `127.0.0.${number + 1}`;
    const address = (await canListen(own)) ? own : '127.0.0.1';
    const programs = new Set<Program>();
    machines.push({
      address,
      async start(name, env) {
        const program = await start(name, { ...env, MACHINE_ADDRESS: address }, running, []);
        programs.add(program);
        return program;
      },
      // The programs themselves hold what comes to them: there is no cable to pull.
      setConnected: async (isConnected) => {
        const told = [...programs].map((program) => program.call('setConnected', isConnected).catch(() => undefined));
        await Promise.all(told);
      },
    });
  }
  return machines;
}

function canListen(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}

interface Answer {
  readonly id?: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly code?: string };
}

async function start(
  name: string,
  env: Readonly<Record<string, string>>,
  running: ChildProcess[],
  before: readonly string[],
): Promise<Program> {
  const [command = '', ...args] = [
    ...before,
    process.execPath,
    join(process.cwd(), 'out/support/machines', `${name}.js`),
  ];
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  running.push(child);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let calls = 0;
  child.on('message', ({ id, value, error }: Answer) => {
    if (id === undefined) return;
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error) asked?.reject(Object.assign(new Error(error.message), { code: error.code }));
    else asked?.resolve(value);
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} has ended.`));
    waiting.clear();
  });
  const [first] = await Promise.race([once(child, 'message'), once(child, 'exit'), once(child, 'error')]);
  if (Object(first).ready !== true || child.pid === undefined) throw new Error(`${name} did not start: ${first}`);
  return {
    pid: child.pid,
    call: <T>(method: string, ...given: readonly unknown[]) =>
      new Promise<T>((resolve, reject) => {
        const id = ++calls;
        if (child.exitCode !== null || child.signalCode !== null) {
          reject(new Error(`${name} has ended.`));
          return;
        }
        waiting.set(id, { resolve: (value) => resolve(value as T), reject });
        child.send({ id, method, args: given });
      }),
    kill: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
