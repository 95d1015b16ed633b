// Style sheets are bundled beside the script, which has nothing of them; only those of parts that are
// loaded later are texts (scripts/build.mjs).
declare module '*.css' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the bundler has no other name for it
  export default text;
}
