// Modules of packages that their packages load and Parley never uses: what stands here takes their place in the bundles.

const NO_COMMONJS = 'module.exports = undefined;';

/** What takes the place of each module by the end of its path. */
const LEFT_OUT = {
  // A client needs no server.
  'ws/lib/websocket-server.js': NO_COMMONJS,
  'ws/lib/stream.js': NO_COMMONJS,
  'ws/lib/subprotocol.js': NO_COMMONJS,
  // Archives are only read.
  'tar-stream/pack.js': NO_COMMONJS,
};

/** A plugin of esbuild. */
export const leftOut = {
  name: 'left out',
  setup({ onLoad }) {
    const names = Object.keys(LEFT_OUT).map((name) => name.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]'));
    onLoad({ filter: new RegExp(`[\\\\/]node_modules[\\\\/](?:${names.join('|')})$`) }, ({ path }) => {
      const name = Object.keys(LEFT_OUT).find((one) => path.replaceAll('\\', '/').endsWith(`/node_modules/${one}`));
      return { contents: LEFT_OUT[name], loader: 'js' };
    });
  },
};
