// Whom content is meant for: most is for everybody, and some for the agent alone (section 1.4, "annotations").
import { at } from '../../base/untrusted';

/** Whether the `annotations` of a content block name the assistant as its only audience. Without an audience it is for all. */
export function isForAgent(annotations: unknown): boolean {
  const audience = at(annotations, 'audience');
  return Array.isArray(audience) && audience.includes('assistant') && !audience.includes('user');
}
