// Addresses of the package, all derived from `repository` in package.json.

export interface AddressedManifest {
  readonly version: string;
  readonly repository?: string | { readonly url: string };
  readonly bugs?: unknown;
  readonly homepage?: unknown;
}

/** Base URLs of relative links and pictures in the README. */
export interface BaseUrls {
  readonly links: string;
  readonly pictures: string;
}

/** Returns the repository's web page; undefined if package.json has none. */
export function repositoryUrl({ repository }: AddressedManifest): string | undefined {
  const text = typeof repository === 'string' ? repository : repository?.url;
  const url = text?.replace(/^git\+/, '').replace(/\.git$|\/$/, '');
  return url !== undefined && URL.canParse(url) && new URL(url).protocol === 'https:' ? url : undefined;
}

/**
 * Returns the base URLs for the tag of this version; undefined if unknown.
 * @param base overrides those of the host; must be an https address
 */
export function baseUrls(manifest: AddressedManifest, base?: string): BaseUrls | undefined {
  if (base !== undefined) {
    const isSafe = URL.canParse(base) && new URL(base).protocol === 'https:';
    return isSafe ? { links: withSlash(base), pictures: withSlash(base) } : undefined;
  }
  const url = repositoryUrl(manifest);
  if (url === undefined) return undefined;
  const { host, pathname } = new URL(url);
  const tag = `v${manifest.version}`;
  if (host === 'github.com')
    return { links: `${url}/blob/${tag}/`, pictures: `https://raw.githubusercontent.com${pathname}/${tag}/` };
  if (host === 'gitlab.com') return { links: `${url}/-/blob/${tag}/`, pictures: `${url}/-/raw/${tag}/` };
  return undefined;
}

/** Adds the project's home and issue pages to the manifest, unless it has them. */
export function withPages<T extends AddressedManifest>(manifest: T): T {
  const url = repositoryUrl(manifest);
  if (url === undefined) return manifest;
  const issues = new URL(url).host === 'gitlab.com' ? `${url}/-/issues` : `${url}/issues`;
  return { ...manifest, homepage: manifest.homepage ?? url, bugs: manifest.bugs ?? { url: issues } };
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
