// Names below `.localhost` lead to this machine, as RFC 6761 has it: the resolvers of some systems
// do not know them.
import dns from 'node:dns';

type Lookup = (hostname: string, ...rest: unknown[]) => unknown;

export function resolveLocalNames(): () => void {
  const names = dns as { lookup: Lookup };
  const system = names.lookup;
  names.lookup = (hostname, ...rest) => system(hostname.endsWith('.localhost') ? '127.0.0.1' : hostname, ...rest);
  return () => {
    names.lookup = system;
  };
}
