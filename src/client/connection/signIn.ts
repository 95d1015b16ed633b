// Signs in by the chosen method (protocol.md 1.9): the agent does it, or a command in a terminal
// that the user sees. Other methods are guidance only.

import { type AuthMethod, required } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { resolveCommand } from '../../agents/resolveCommand';
import { ParleyError } from '../../base/errors';
import { framed, type LocalizableText, localizable } from '../../base/localizable';
import type { AgentLink } from '../ports/agentLink';
import type { TerminalCommand } from '../ports/ports';
import { deadlines, type StartContext } from './startAgent';

type TerminalMethod = Extract<AuthMethod, { type: 'terminal' }>;

/** Returns whether choosing a method does something; otherwise it is shown as guidance. */
export function canStart(method: AuthMethod): boolean {
  return method.type === 'agent' || method.type === 'terminal';
}

/**
 * Stage `sign-in`.
 * @returns `signed-in` where the agent that runs knows the user now; `restart` where it must be
 * restarted to notice (a terminal never calls `authenticate`).
 * @throws RpcError, ParleyError `sign-in-failed`
 */
export async function signIn(
  context: StartContext,
  link: AgentLink,
  method: AuthMethod,
  signal: AbortSignal,
): Promise<'signed-in' | 'restart'> {
  const { agent, services, stages } = context;
  const run = <T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> =>
    stages.run('sign-in', deadlines(context)['sign-in'], signal, work);
  switch (method.type) {
    case 'agent':
      await run((stop) => link.until((inner) => required(link.dialect.auth).login(method.id, inner), stop));
      return 'signed-in';
    case 'terminal': {
      const terminal = services.signInTerminal;
      if (!terminal) throw new ParleyError('sign-in-failed', localizable('there is no terminal to sign in with'));
      const code = await run(async (stop) => {
        const command = await commandOf(context, agent, method);
        stop.throwIfAborted();
        return terminal(command, stop);
      });
      if (code === 0) return 'restart';
      throw new ParleyError(
        'sign-in-failed',
        code === undefined
          ? localizable('the terminal was closed before you signed in')
          : localizable('signing in ended with code {0}', code),
      );
    }
    case 'env_var':
      throw new ParleyError('sign-in-failed', localizable('{0} Then try again', guidanceOf(method)));
    case 'other':
      throw new ParleyError(
        'sign-in-failed',
        localizable("Parley doesn't support the sign-in method “{0}”", method.name),
      );
  }
}

/** What the user has to do for a method that nothing can be started for, a sentence or two. */
export function guidanceOf(method: AuthMethod): LocalizableText {
  const { name, description } = method;
  if (method.type !== 'env_var') return description ? `${name}: ${description}` : `${name}.`;
  const { variables } = method;
  const what = variables.length === 0 ? localizable('the required variable') : variables.join(' and ');
  const sentence = localizable(
    '{0}: Set {1} under "env" of the agent in parley.agents, or in the environment that starts VS Code.',
    name,
    what,
  );
  return description ? framed('{0} {1}', sentence, description) : sentence;
}

/**
 * The agent's own command with what the method adds, or the method's own command; in the
 * environment that the agent gets.
 */
async function commandOf(
  { cwd, services }: StartContext,
  agent: AgentDefinition,
  method: TerminalMethod,
): Promise<TerminalCommand> {
  if (agent.type !== 'process') {
    throw new ParleyError(
      'sign-in-failed',
      localizable('{0} runs on another machine, where no terminal can be opened', agent.name),
    );
  }
  const name = method.command ?? agent.command;
  const env = { ...(await services.environment(name)), ...agent.env, ...method.env };
  return {
    title: `${agent.name}: ${method.name}`,
    command: await resolveCommand(name, { cwd, env }),
    args: method.command === undefined ? [...agent.args, ...method.args] : method.args,
    env,
    cwd: agent.cwd ?? cwd,
  };
}
