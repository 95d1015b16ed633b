// Classifies addresses behind untrusted URLs. Whatever is not plainly public is refused by default.
import ipaddr from 'ipaddr.js';

/** The user can allow `local` and `private` for an origin; only settings can allow `forbidden`. */
export type AddressClass = 'public' | 'local' | 'private' | 'forbidden';

const ASKABLE: Readonly<Record<string, AddressClass>> = {
  unicast: 'public',
  loopback: 'local',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
};

const GLOBAL_V6 = ipaddr.IPv6.parse('2000::');

/** Classifies an IPv4 or IPv6 address in its usual text form. Unparsable text is forbidden. */
export function addressClass(address: string): AddressClass {
  // A zone names an interface of this machine. `new URL` normalizes unusual numbers.
  if (address.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address))) {
    return 'forbidden';
  }
  const parsed = ipaddr.parse(address);
  const rangeClass = ASKABLE[parsed.range()] ?? 'forbidden';
  // Global unicast IPv6 is 2000::/3. The rest is unassigned or embeds IPv4.
  const isUnassigned = rangeClass === 'public' && parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_V6, 3);
  return isUnassigned ? 'forbidden' : rangeClass;
}

/** The worst class counts, because the next connection may use any of the addresses. */
export function worstClass(addresses: readonly string[]): AddressClass {
  const classes = new Set(addresses.map(addressClass));
  if (addresses.length === 0 || classes.has('forbidden')) return 'forbidden';
  if (classes.has('local')) return 'local';
  return classes.has('private') ? 'private' : 'public';
}
