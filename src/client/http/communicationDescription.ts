// Converts what a server of the Agent Communication Protocol says of an agent into the description
// of an agent, or says why the server does not have it.

import type { AgentDescription } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { framed, type Localizable, localizable } from '../../base/localizable';
import { AgentServerError, type CommunicationClient } from '../ports/agentServers';
import type { AgentManifest } from '../ports/messages';

const MAX_NAMES = 20;

/** `GET /ping`. A server without it may still be one. @throws AgentServerError */
export async function reachServer(client: CommunicationClient, signal: AbortSignal): Promise<void> {
  try {
    await client.ping(signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * @throws ParleyError `agent-unknown` with the known names, `not-an-agent-server`; AgentServerError
 */
export async function findAgent(
  client: CommunicationClient,
  name: string,
  signal: AbortSignal,
): Promise<AgentManifest> {
  try {
    return await client.agent(name, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ParleyError(
      'agent-unknown',
      localizable('The agent server at {0} has no agent “{1}”.', client.origin, name),
      {
        hint: await adviceFor(client, signal),
        cause: error,
      },
    );
  }
}

async function adviceFor(client: CommunicationClient, signal: AbortSignal): Promise<Localizable> {
  let names: readonly string[];
  try {
    names = (await client.agents({ limit: 100 }, signal)).map(({ name }) => name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ParleyError(
      'not-an-agent-server',
      localizable("{0} isn't an Agent Communication Protocol server.", client.baseUrl),
      { hint: localizable('Check the “url” of the agent in parley.agents.'), cause: error },
    );
  }
  if (names.length === 0) return localizable('It has no agents.');
  const shown = names.slice(0, MAX_NAMES).join(', ');
  const more = names.length - MAX_NAMES;
  const has = more > 0 ? localizable('It has {0} and {1} more.', shown, more) : localizable('It has {0}.', shown);
  return framed('{0} {1}', has, localizable('Correct “agent” in parley.agents.'));
}

/** A manifest without kinds of content takes all of them. */
export function describeAgent(manifest: AgentManifest): AgentDescription {
  const types = manifest.input_content_types ?? ['*/*'];
  const takes = (kind: string): boolean =>
    types.some((type) => type.startsWith('*') || type.toLowerCase().startsWith(`${kind}/`));
  return {
    protocol: 'communication',
    name: manifest.name,
    features: {
      prompt: {
        image: takes('image'),
        audio: takes('audio'),
        // A file is a part of its own, of whatever type it is: one that takes plain text alone gets
        // it as text.
        embeddedContext: types.some((type) => type.startsWith('*') || type.toLowerCase() === 'text/*'),
      },
      resume: {},
      carried: {},
    },
    authMethods: [],
    raw: manifest,
  };
}

function isNotFound(error: unknown): boolean {
  return error instanceof AgentServerError && error.status === 404;
}
