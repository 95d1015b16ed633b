// Where the package says that it comes from, all of it from `repository` in package.json.

/** What of package.json is read. */
export interface AddressedManifest {
  readonly version: string;
  readonly repository?: string | { readonly url: string };
  readonly bugs?: unknown;
  readonly homepage?: unknown;
}

/** Where relative links and pictures of the README lead to. */
export interface BaseUrls {
  readonly links: string;
  readonly pictures: string;
}

/** The page of the repository, or undefined if package.json has none that a browser can open. */
export function repositoryUrl({ repository }: AddressedManifest): string | undefined {
  const text = typeof repository === 'string' ? repository : repository?.url;
  const url = text?.replace(/^git\+/, '').replace(/\.git$|\/$/, '');
  return url !== undefined && URL.canParse(url) && new URL(url).protocol === 'https:' ? url : undefined;
}

/**
 * The addresses of the files of this version, as its tag has them.
 * @param base instead of what the repository's host is known for
 * @returns undefined if there is neither, or `base` is no https address
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

/** The manifest with the pages for questions and of the project, unless it names others. */
export function withPages<T extends AddressedManifest>(manifest: T): T {
  const url = repositoryUrl(manifest);
  if (url === undefined) return manifest;
  const issues = new URL(url).host === 'gitlab.com' ? `${url}/-/issues` : `${url}/issues`;
  return { ...manifest, homepage: manifest.homepage ?? url, bugs: manifest.bugs ?? { url: issues } };
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
