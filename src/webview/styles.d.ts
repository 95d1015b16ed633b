// Style sheets are bundled beside the script, except those of formulas and diagrams, which are
// strings in it (scripts/build.mjs).
declare module '*.css' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the bundler has no other name for it
  export default text;
}
