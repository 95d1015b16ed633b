// The address by which others reach our server where it differs from its own: a tunnel, a reverse
// proxy or a forwarded port.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

export interface PublicAddress {
  /** As links begin: `https://host[:port][/path]`, without a slash at the end. */
  readonly base: string;
  /** Values of the Host header under which requests come, lower case. */
  readonly hosts: readonly string[];
  /** A path prefix that a proxy left, or nothing. */
  readonly prefix: string;
}

/** @throws ParleyError `bad-setting` for what is no plain http or https address */
export function readPublicAddress(text: string): PublicAddress {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!url || !isPlain || !/^https?:$/.test(url.protocol)) {
    throw new ParleyError(
      'bad-setting',
      localizable("The public address of the server isn't a plain http or https URL."),
      {
        hint: localizable('Set parley.server.publicUrl to https://host[:port][/path].'),
      },
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  const port = url.protocol === 'https:' ? 443 : 80;
  return { base: url.origin + prefix, hosts: url.port === '' ? [url.host, `${url.host}:${port}`] : [url.host], prefix };
}
