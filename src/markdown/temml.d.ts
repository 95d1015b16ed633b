// The bundled modules of Temml, whose own types cover only the package as a whole.
/* biome-ignore-all lint/style/noDefaultExport: they are what the modules have */

declare module 'temml/src/buildMathML.js' {
  import type Settings from 'temml/src/Settings.js';
  import type Style from 'temml/src/Style.js';

  export default function buildMathML(tree: unknown, tex: string, style: Style, settings: Settings): unknown;
}

declare module 'temml/src/defineFunction.js' {
  export const _functions: Record<string, unknown>;
  export const _mathmlGroupBuilders: Record<string, (group: unknown, style: unknown) => unknown>;
}

declare module 'temml/src/defineMacro.js' {
  export const _macros: Record<string, unknown>;
}

declare module 'temml/src/parseTree.js' {
  import type Settings from 'temml/src/Settings.js';

  /** @throws {Error} for invalid TeX or an unknown command */
  export default function parseTree(tex: string, settings: Settings): unknown;
}

declare module 'temml/src/Settings.js' {
  export default class Settings {
    constructor(options: {
      readonly displayMode: boolean;
      readonly strict: boolean;
      readonly throwOnError: boolean;
      readonly wrap: 'none' | 'tex';
      readonly trust: boolean;
      readonly maxExpand: number;
      readonly maxSize: readonly [number, number];
    });
    readonly maxSize: readonly [number, number];
  }
}

declare module 'temml/src/Style.js' {
  export default class Style {
    constructor(data: { readonly level: 0 | 1; readonly maxSize: readonly [number, number] });
  }
}
