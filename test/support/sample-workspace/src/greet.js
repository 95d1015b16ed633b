/** Says hello. */
export function greet(name) {
  return `Hello, ${name}!`;
}

process.stdout.write(`${greet(process.argv[2] ?? 'world')}\n`);
