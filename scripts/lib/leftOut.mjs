// Modules of packages that their packages load and Parley never uses: what stands here takes their place in the bundles.
import { readFile } from 'node:fs/promises';

const NOTHING = 'export default {};';
const NO_COMMONJS = 'module.exports = undefined;';

/** Names of colours that CSS has too. */
const withoutColors = (text) => text.replace(/JSON\.parse\(`[^`]*`\)/, '{}');

/** Names of formats that no schema of Parley asks for. */
const withoutFormats = (text) => text.replace(/(const FormatDictionary = \{\s*regex: "input",)[^}]*/, '$1');

/** What messages in streams with headers need; Parley's are lines. */
const withoutStreams = (text) =>
  text
    .replace(/class MessageBuffer[\s\S]*?(?=const _ril)/, '')
    .replace(/ {4}messageBuffer:[\s\S]*?(?= {4}console:)/, '')
    .replace('const semaphore_1 = require("./semaphore");', '')
    .replace(/var ResolvedMessage(?:Reader|Writer)Options[\s\S]*$/, '');

/** What is read and written at once, and streams that are joined; archives are only read. */
const withoutDuplexes = (text) =>
  text
    .replace(/class Duplex extends[\s\S]*?(?=function echo\()/, '')
    .replace(/ {2}static deferred[\s\S]*?(?= {2}setEncoding)/, '')
    .replace(/module\.exports = \{[\s\S]*$/, 'module.exports = { Writable, Readable, getStreamError };');

/** What takes the place of each module, or what it becomes, by the end of its path. */
const LEFT_OUT = {
  // A client needs no server.
  'ws/lib/websocket-server.js': NO_COMMONJS,
  'ws/lib/stream.js': NO_COMMONJS,
  'ws/lib/extension.js': 'module.exports = {};',
  'ws/lib/subprotocol.js': NO_COMMONJS,
  // It is turned off (src/acp/transport/webSocketTransport.ts).
  'ws/lib/permessage-deflate.js': "module.exports = { extensionName: 'permessage-deflate' };",
  // Parley's messages are lines, in streams of its own.
  'vscode-jsonrpc/lib/node/main.js': "require('./ril').default.install(); module.exports = require('../common/api');",
  'vscode-jsonrpc/lib/node/ril.js': withoutStreams,
  'vscode-jsonrpc/lib/common/messageReader.js': withoutStreams,
  'vscode-jsonrpc/lib/common/messageWriter.js': withoutStreams,
  'vscode-jsonrpc/lib/common/api.js': `module.exports = {
    ...require('./messages'),
    AbstractMessageReader: require('./messageReader').AbstractMessageReader,
    AbstractMessageWriter: require('./messageWriter').AbstractMessageWriter,
    createMessageConnection: require('./connection').createMessageConnection,
    RAL: require('./ral').default,
  };`,
  'zod/v4/locales/en.js': withoutFormats,
  // Node has it.
  'yauzl/crc32.js': NO_COMMONJS,
  // Archives are only read.
  'tar-stream/pack.js': NO_COMMONJS,
  'streamx/index.js': withoutDuplexes,
  'text-decoder/index.js': NO_COMMONJS,
  // Commands that formulas of agents must not have (src/markdown/formula.ts), and letters with accents, which are drawn as they are.
  'temml/src/environments/borderTree.js': 'export const bordermatrixParseTree = undefined;',
  'temml/src/environments/cd.js': 'export const parseCD = undefined;',
  'temml/src/functions/color.js': withoutColors,
  'temml/src/functions/bordermatrix.js': NOTHING,
  'temml/src/functions/cancelto.js': NOTHING,
  'temml/src/functions/html.js': NOTHING,
  'temml/src/functions/includegraphics.js': NOTHING,
  'temml/src/functions/label.js': 'export const invalidIdRegEx = undefined;',
  'temml/src/functions/lap.js': NOTHING,
  'temml/src/functions/ref.js': NOTHING,
  'temml/src/functions/reflect.js': NOTHING,
  'temml/src/unicodeSymbols.js': NOTHING,
};

/** A plugin of esbuild. */
export const leftOut = {
  name: 'left out',
  setup({ onLoad }) {
    const names = Object.keys(LEFT_OUT).map((name) => name.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]'));
    onLoad({ filter: new RegExp(`[\\\\/]node_modules[\\\\/](?:${names.join('|')})$`) }, async ({ path }) => {
      const name = Object.keys(LEFT_OUT).find((one) => path.replaceAll('\\', '/').endsWith(`/node_modules/${one}`));
      const instead = LEFT_OUT[name];
      return {
        contents: typeof instead === 'string' ? instead : instead(await readFile(path, 'utf8')),
        loader: 'js',
      };
    });
  },
};
