// Keeps the machine awake while agents work, using a system program that ends with this process
// however that ends.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { Configured, type Disposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { LIST_PROGRAM, runSystemProgram, SHELL_ARGS, systemProgram } from './windowsProcesses';

export type AwakePolicy = 'off' | 'onPower' | 'always';

interface AwakeOptions {
  readonly policy: () => AwakePolicy;
  readonly isWorking: () => boolean;
  readonly isOnBattery: () => Promise<boolean>;
  readonly platform: NodeJS.Platform;
  readonly log: Log;
  /** Debounce in ms: shorter turns and pauses change nothing. */
  readonly settleMs?: number;
}

const SETTLE_MS = 5000;
/** How long a battery check stays valid, in ms: a machine can be unplugged during a turn. */
const POWER_MS = 60_000;
const ASK_MS = 5000;

export class Awake extends Configured<AwakeOptions> implements Disposable {
  #child: ChildProcess | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #recheckTimer: NodeJS.Timeout | undefined;
  #wasWorking = false;
  #batteryCheckedAt = 0;
  #onBattery: Promise<boolean> | undefined;
  #isBroken = false;

  changed(): void {
    if (this.#isBroken) return;
    this.#settleTimer ??= setTimeout(() => {
      this.#settleTimer = undefined;
      void this.#update();
    }, this.options.settleMs ?? SETTLE_MS).unref();
  }

  dispose(): void {
    this.#isBroken = true;
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#recheckTimer);
    this.#end();
  }

  async #update(): Promise<void> {
    const { policy, isWorking } = this.options;
    const works = isWorking();
    // Otherwise the machine would fall asleep between two queued messages.
    const keeps = works || this.#wasWorking;
    this.#wasWorking = works;
    clearTimeout(this.#recheckTimer);
    if (works) this.#recheckTimer = setTimeout(() => this.changed(), POWER_MS).unref();
    else if (keeps) this.changed();
    const setting = policy();
    const isWanted = keeps && (setting === 'always' || (setting === 'onPower' && !(await this.#isOnBattery())));
    if (this.#isBroken) return;
    if (!isWanted) this.#end();
    else if (!this.#child) this.#start();
  }

  /** Cached, as it starts a program on macOS and Windows and is called every few seconds. */
  #isOnBattery(): Promise<boolean> {
    const now = performance.now();
    if (!this.#onBattery || now - this.#batteryCheckedAt >= POWER_MS) {
      this.#batteryCheckedAt = now;
      this.#onBattery = this.options.isOnBattery();
    }
    return this.#onBattery;
  }

  #start(): void {
    const { file, args } = awakeProgram(this.options.platform, process.pid);
    const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'], windowsHide: true, cwd: '/' });
    this.#child = child;
    const failed = (why: string): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#isBroken = true;
      this.options.log.info(`The machine may sleep while agents work: ${file} ${why}`);
    };
    child.on('error', (error) => failed(messageOf(error)));
    child.on('exit', (code, signal) => failed(`ended with ${signal ?? code}`));
    child.stdin.on('error', () => {});
    child.unref();
  }

  #end(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.stdin?.end();
    child?.kill();
  }
}

/** SetThreadExecutionState(ES_CONTINUOUS or ES_SYSTEM_REQUIRED) lasts as long as its process. */
const WINDOWS_SCRIPT = [
  `$type = Add-Type -PassThru -Namespace Parley -Name Power -MemberDefinition '[DllImport("kernel32.dll")] public static extern uint SetThreadExecutionState(uint flags);'`,
  'if ($type::SetThreadExecutionState([uint32]2147483649) -eq 0) { exit 1 }',
  '[void][Console]::In.ReadToEnd()',
].join('; ');

/**
 * Returns the program that keeps the system, but not the display, awake until its stdin closes, or
 * on macOS until process `pid` ends.
 */
export function awakeProgram(
  platform: NodeJS.Platform,
  pid: number,
): { readonly file: string; readonly args: readonly string[] } {
  if (platform === 'darwin') return { file: 'caffeinate', args: ['-i', '-w', String(pid)] };
  if (platform === 'win32') return { file: systemProgram(LIST_PROGRAM), args: [...SHELL_ARGS, WINDOWS_SCRIPT] };
  const why = l10n.t('An agent is working');
  return {
    file: 'systemd-inhibit',
    args: ['--what=idle:sleep', '--mode=block', '--who=Parley', `--why=${why}`, 'cat'],
  };
}

/** @returns false if unknown @param supplies folder on Linux */
export async function isOnBattery(platform: NodeJS.Platform, supplies = '/sys/class/power_supply'): Promise<boolean> {
  if (platform === 'darwin') return (await printed('pmset', ['-g', 'batt'])).includes("'Battery Power'");
  if (platform === 'win32') {
    const asked = '(Get-CimInstance Win32_Battery).BatteryStatus';
    const { stdout } = await runSystemProgram(LIST_PROGRAM, [...SHELL_ARGS, asked], ASK_MS);
    // Discharging, low or critical.
    return /^\s*[145]\s*$/m.test(stdout);
  }
  const read = (...path: string[]): Promise<string> =>
    readFile(join(supplies, ...path), 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
  const names = await readdir(supplies).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => (await read(name, 'scope')) !== 'Device' && (await read(name, 'status'))),
  );
  return found.includes('Discharging');
}

function printed(file: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: ASK_MS }, (_error, stdout) => resolve(stdout));
  });
}
