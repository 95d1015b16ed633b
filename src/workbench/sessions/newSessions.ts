// The new sessions of a workspace. Nothing of a session is stored before the user's first word, and
// that may be typed while the extension host is dead: the next host makes the session again.
import type { Memento } from 'vscode';
import * as z from 'zod/mini';

const NEW_SESSIONS = 'parley.newSessions';
const MOST = 20;

const sessions = z.array(
  z.object({
    key: z.string(),
    agentId: z.string(),
    cwd: z.string(),
    roots: z.array(z.string()),
  }),
);

export type NewSession = z.infer<typeof sessions>[number];

export class NewSessions {
  readonly #memento: Pick<Memento, 'get' | 'update'>;

  constructor(memento: Pick<Memento, 'get' | 'update'>) {
    this.#memento = memento;
  }

  note({ key, agentId, cwd, roots }: Omit<NewSession, 'roots'> & { readonly roots: readonly string[] }): void {
    const others = this.#read().filter((one) => one.key !== key);
    this.#write([...others, { key, agentId, cwd, roots: [...roots] }].slice(-MOST));
  }

  find(key: string): NewSession | undefined {
    return this.#read().find((one) => one.key === key);
  }

  forget(key: string): void {
    const all = this.#read();
    const others = all.filter((one) => one.key !== key);
    if (others.length < all.length) this.#write(others);
  }

  #read(): readonly NewSession[] {
    return sessions.safeParse(this.#memento.get(NEW_SESSIONS, [])).data ?? [];
  }

  #write(all: readonly NewSession[]): void {
    void this.#memento.update(NEW_SESSIONS, all);
  }
}
