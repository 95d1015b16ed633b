// Style sheets are bundled beside the script; the one for the insides of formulas is a text in it
// (scripts/build.mjs).
declare module '*.css' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the bundler has no other name for it
  export default text;
}
