// The walls of the house: below the workbench nothing knows VS Code, the model knows nothing but
// itself, the webview knows only the contract.
import { strict as assert } from 'node:assert';
import { codeOf } from './codeOf';
import { circles, importsOf, unusedPermissions, violations } from './imports';
import { sources } from './sources';

describe('the rooms of src', () => {
  it('import only what their rules allow', () => {
    assert.deepEqual(
      sources().flatMap(({ path, text }) => violations(path, text)),
      [],
    );
  });

  it('import each other in no circle, types included', () => {
    assert.deepEqual(circles(sources()), []);
  });

  it('are permitted no import that none of their files needs', () => {
    assert.deepEqual(unusedPermissions(sources()), []);
  });

  it('use no globals of Node or of a browser in the model', () => {
    const impure = /(?<![.\w'"])(process\.|Buffer\.|document\.|window\.|setTimeout\(|setInterval\(|Date\.now\()/;
    const pure = sources().filter(({ path }) => /^(session|panel)\//.test(path));
    assert.ok(pure.length > 0);
    assert.deepEqual(
      pure.filter(({ text }) => impure.test(codeOf(text))).map(({ path }) => path),
      [],
    );
  });
});

describe('the import rules themselves', () => {
  const cases: readonly (readonly [path: string, text: string, expected: RegExp | undefined])[] = [
    ['session/a.ts', "import { readFileSync } from 'node:fs';", /must not know Node/],
    ['acp/a.ts', "import type { Uri } from 'vscode';", /must not know VS Code/],
    ['acp/a.ts', "import {\n  a,\n  b,\n} from '../session/model';", /may only take types/],
    ['acp/a.ts', "import type { A } from '../session/model';", undefined],
    ['acp/a.ts', "import { type A, type B } from '../session/model';", undefined],
    ['acp/a.ts', "import { type A, b } from '../session/model';", /may only take types/],
    ['acp/a.ts', "export * from '../workbench/x';", /must not know workbench/],
    ['acp/a.ts', "export type { X } from '../session/x';", undefined],
    ['acp/quirks/a.ts', "import { x } from '../jsonrpc/rpcError';", undefined],
    ['acp/jsonrpc/a.ts', "import { x } from '../protocol/dialect';", /acp\/jsonrpc is below acp\/protocol/],
    ['acp/v2/a.ts', "import { x } from '../initialize';", /acp\/v2 is below acp/],
    ['acp/v3/a.ts', "import { x } from '../v1/v1Agent';", /acp\/v3 has no place/],
    ['acp/initialize.ts', "import { x } from './v2/v2Agent';", undefined],
    ['client/a.ts', "const x = await import('../workbench/x');", /must not know workbench/],
    ['client/sharing/a.ts', "import { x } from '../../distributed/model/model';", /by its ports/],
    ['client/ports/a.ts', "import { x } from '../../distributed/model/model';", undefined],
    ['webview/a.tsx', "import '../workbench/x';", /must not know workbench/],
    ['webview/a.tsx', "import { x } from '../session/model';", /must not know session/],
    ['base/a.ts', "import * as z from 'zod';", /must not use the package zod/],
    ['webview/a.ts', "import { x } from '@preact/signals/utils';", undefined],
    ['webview/a.ts', "const x = await import(fileUrl('highlighter.js'));", undefined],
    ['webview/a.ts', 'const x = await import(fileUrl(name));', /something computed/],
    ['workbench/a.ts', "import { x } from '../../test/support/x';", /outside of src/],
    ['workbench/a.ts', "const fs = require('fs');", /must not use the package fs/],
    ['workbench/a.ts', "import { x } from './activation/page';", /may only take types/],
    ['workbench/chat/a.contribution.ts', "import { x } from '../commands/x';", undefined],
    ['workbench/commands/a.ts', "import { x } from '../chat/x.contribution';", /only the composition root/],
    ['workbench/activation/a.ts', "import { x } from '../settings';", /must not know workbench/],
    ['workbench/a.ts', "import type { X } from './product';", /must not know workbench\/product/],
    ['extension.ts', "import { x } from './workbench/settings';", /may only take types/],
    ['attic/a.ts', '', /no room/],
  ];
  for (const [path, text, expected] of cases) {
    it(`report ${path} with ${JSON.stringify(text)}`, () => {
      const found = violations(path, text);
      if (expected === undefined) assert.deepEqual(found, []);
      else assert.match(found.join(), expected);
    });
  }

  it('find a circle through several files', () => {
    const files = [
      { path: 'acp/a.ts', text: "import type { B } from './v1/b';" },
      { path: 'acp/v1/b.ts', text: "import { c } from '../../base/c';" },
      { path: 'base/c.ts', text: "export type { A } from '../acp/a';" },
      { path: 'base/d.ts', text: "import { c } from './c';" },
    ];
    assert.deepEqual(circles(files), [['acp/a.ts', 'acp/v1/b.ts', 'base/c.ts']]);
  });

  it('reject an import that they cannot parse', () => {
    assert.throws(() => importsOf('import a = x.y;'), /understood/);
    assert.deepEqual(importsOf("import { a /* it's */ } from 'x';"), [{ specifier: 'x', typeOnly: false }]);
    assert.deepEqual(importsOf('const x = await import(name);'), [
      { specifier: 'something computed', typeOnly: false },
    ]);
  });

  it('ignore comments and strings', () => {
    const text = [
      "// import('a') `",
      "/* require('b')",
      " */ const r = /['`]/; const s = `",
      "$\u007b`x`} require('c')",
      '`;',
      "const t = 'a`';",
    ].join('\n');
    assert.deepEqual(importsOf(text), []);
    assert.match(codeOf(text), /const r = .*const s = ``;\nconst t = 'a`';/s);
  });
});
