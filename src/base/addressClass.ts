// Classifies the addresses that a URL from an untrusted source leads to. Everything that is not
// plainly public is refused by default.
import ipaddr from 'ipaddr.js';

/**
 * `local` and `private` can be allowed for an origin by the user; `forbidden` only by the settings.
 */
export type AddressClass = 'public' | 'local' | 'private' | 'forbidden';

const ASKABLE: Readonly<Record<string, AddressClass>> = {
  unicast: 'public',
  loopback: 'local',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
};

const GLOBAL_V6 = ipaddr.IPv6.parse('2000::');

/** Classifies an IPv4 or IPv6 address in its usual text form; what cannot be read is forbidden. */
export function addressClass(address: string): AddressClass {
  // A zone names an interface of this machine: never public. Short and odd number forms are for
  // `new URL` to normalise.
  if (address.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address))) {
    return 'forbidden';
  }
  const parsed = ipaddr.parse(address);
  const found = ASKABLE[parsed.range()] ?? 'forbidden';
  // What the internet uses of IPv6 is 2000::/3; the rest holds old ways to write IPv4, and what is
  // yet to come.
  const isUnassigned = found === 'public' && parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_V6, 3);
  return isUnassigned ? 'forbidden' : found;
}

/** One bad address spoils a name, as the next connection may use it. */
export function worstClass(addresses: readonly string[]): AddressClass {
  const classes = new Set(addresses.map(addressClass));
  if (addresses.length === 0 || classes.has('forbidden')) return 'forbidden';
  if (classes.has('local')) return 'local';
  return classes.has('private') ? 'private' : 'public';
}
