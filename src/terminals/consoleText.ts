// Decodes console output on Windows: usually UTF-8, but cmd.exe, its builtins and older programs
// use the console's code page, even within one command.
import { isUtf8 } from 'node:buffer';
import { runSystemProgram } from '../agents/windowsProcesses';

const TIMEOUT_MS = 5000;
const LINE_BREAK = 10;

export interface TextReader {
  write(chunk: Buffer): string;
  end(): string;
}

let codePage: Promise<number | undefined> | undefined;

/** Returns the code page of new consoles; undefined if unavailable. */
export function consoleCodePage(): Promise<number | undefined> {
  codePage ??= runSystemProgram('chcp.com', [], TIMEOUT_MS).then(({ stdout }) => {
    // The text around the number is localized.
    const page = Number(/(\d{3,5})\D*$/.exec(stdout)?.[1]);
    return Number.isNaN(page) ? undefined : page;
  });
  return codePage;
}

/** Decodes each line as UTF-8 if valid, otherwise with a code page. */
export class ConsoleReader implements TextReader {
  readonly #decode: (bytes: Buffer, isEnd: boolean) => string;
  #incomplete = Buffer.alloc(0);

  constructor(page: number) {
    this.#decode = decoderOf(page);
  }

  write(chunk: Buffer): string {
    const bytes = Buffer.concat([this.#incomplete, chunk]);
    const end = bytes.length - incompleteBytes(bytes);
    // Copied, since the chunk can be a slice of a larger buffer.
    this.#incomplete = Buffer.from(bytes.subarray(end));
    return this.#text(bytes.subarray(0, end));
  }

  end(): string {
    const text = this.#text(this.#incomplete);
    return text + this.#decode(Buffer.alloc(0), true);
  }

  #text(bytes: Buffer): string {
    if (bytes.length === 0) return '';
    if (isUtf8(bytes)) return this.#decode(Buffer.alloc(0), true) + bytes.toString('utf8');
    let text = '';
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(LINE_BREAK, start);
      const end = found < 0 ? bytes.length : found + 1;
      const line = bytes.subarray(start, end);
      text += isUtf8(line) ? this.#decode(Buffer.alloc(0), true) + line.toString('utf8') : this.#decode(line, false);
      start = end;
    }
    return text;
  }
}

/** Returns the number of bytes of an incomplete UTF-8 character at the end. */
function incompleteBytes(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > count ? count : 0;
  }
  return 0;
}

const NAMES: ReadonlyMap<number, string> = new Map([
  [866, 'ibm866'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
]);

/** Returns a decoder for a code page; at the end it flushes the rest. */
function decoderOf(page: number): (bytes: Buffer, isEnd: boolean) => string {
  // Code page 858 differs from 850 only in the euro sign.
  const upper = page === 858 ? UPPER_HALVES.get(850)?.replace('\u0131', '€') : UPPER_HALVES.get(page);
  if (upper !== undefined) {
    return (bytes) =>
      Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : upper[byte - 128])).join('');
  }
  const decoder = textDecoder(NAMES.get(page) ?? `windows-${page}`) ?? new TextDecoder();
  return (bytes, isEnd) => decoder.decode(bytes, { stream: !isEnd });
}

function textDecoder(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name);
  } catch {
    return undefined;
  }
}

/**
 * Upper halves (from 0x80) of code pages that TextDecoder does not support
 * (https://www.unicode.org/Public/MAPPINGS/VENDORS/MICSFT/PC/).
 */
const UPPER_HALVES: ReadonlyMap<number, string> = new Map([
  [
    437,
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
      '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ],
  [
    850,
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
      '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  ],
  [
    852,
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐' +
      '└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  ],
]);
