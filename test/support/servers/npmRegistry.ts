// A server as npm expects its registry, with packages that the tests make.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tgzOf } from '../archives';

export interface TestPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
}

export class NpmRegistry {
  readonly #packages = new Map<string, { readonly manifest: Record<string, unknown>; readonly tarball: Buffer }[]>();
  readonly served: string[] = [];
  beforeTarball: ((response: ServerResponse) => boolean) | undefined;

  async add({ name, version, manifest = {}, files }: TestPackage): Promise<void> {
    const whole = { name, version, ...manifest };
    const tarball = await tgzOf([
      { name: 'package/package.json', text: JSON.stringify(whole) },
      ...Object.entries(files).map(([path, text]) => ({ name: `package/${path}`, text, mode: 0o755 })),
    ]);
    this.#packages.set(name, [...(this.#packages.get(name) ?? []), { manifest: whole, tarball }]);
  }

  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = decodeURIComponent(request.url ?? '');
    const [, file] = /^\/-\/(.+)\.tgz$/.exec(path) ?? [];
    if (file !== undefined) {
      this.served.push(file);
      if (this.beforeTarball?.(response)) return true;
      const at = file.lastIndexOf('@');
      const found = this.#packages
        .get(file.slice(0, at))
        ?.find(({ manifest }) => manifest.version === file.slice(at + 1));
      response.writeHead(found ? 200 : 404).end(found?.tarball);
      return true;
    }
    const versions = this.#packages.get(path.slice(1));
    if (!versions) return false;
    const base = `http://${request.headers.host}`;
    const listed = versions.map(({ manifest, tarball }) => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const url = `${base}/-/${encodeURIComponent(`${manifest.name}@${manifest.version}`)}.tgz`;
      const dist = { tarball: url, integrity, unpackedSize: tarball.length * 3 };
      return [manifest.version, { ...manifest, dist }] as const;
    });
    response.setHeader('content-type', 'application/json');
    const latest = versions.at(-1)?.manifest.version;
    response.end(
      JSON.stringify({ name: path.slice(1), 'dist-tags': { latest }, versions: Object.fromEntries(listed) }),
    );
    return true;
  }
}
