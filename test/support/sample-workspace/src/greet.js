/** Says hello. */
export function greet(name) {
  return `Hello, ${name}!`;
}

console.log(greet(process.argv[2] ?? 'world'));
