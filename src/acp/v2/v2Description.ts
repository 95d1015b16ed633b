// Reads what a v2 agent declares in its answer to initialize (section 3.2): its features and its
// sign-in methods.
import { at } from '../../base/untrusted';
import type { AgentDescription, AgentFeatures, Feature } from '../protocol/dialect';
import { describe, proposalsOf, toFeature, withoutAbsent } from '../v1/v1Description';

export function describeV2(raw: unknown): AgentDescription | undefined {
  return describe(2, raw, featuresOf);
}

/**
 * Where an agent has sessions, it can list, resume and close them; where it has ways to sign in, it
 * can also sign out.
 */
function featuresOf(raw: unknown): AgentFeatures {
  const session = (...path: string[]): Feature | undefined => toFeature(at(raw, 'capabilities', 'session', ...path));
  const prompt = (kind: string): boolean => session('prompt', kind) !== undefined;
  const baseline = session() && {};
  const authMethods = at(raw, 'authMethods');
  return withoutAbsent({
    prompt: { image: prompt('image'), audio: prompt('audio'), embeddedContext: prompt('embeddedContext') },
    resume: baseline && { replay: {} },
    list: baseline,
    close: baseline,
    fork: session('fork'),
    delete: session('delete'),
    title: session('title'),
    archive: session('archive'),
    additionalDirectories: session('additionalDirectories'),
    logout: Array.isArray(authMethods) && authMethods.length > 0 ? {} : undefined,
    mcpHttp: session('mcp', 'http'),
    mcpAcp: session('mcp', 'acp'),
    queue: {},
    states: {},
    cancelTool: {},
    ...proposalsOf(raw),
  });
}
