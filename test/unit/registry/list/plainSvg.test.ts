// An agent's icon is shown only as plain shapes in one color.
import assert from 'node:assert/strict';
import { readPlainSvg, svgImage } from '../../../../src/registry/list/plainSvg';

const svg = (inner: string, more = 'viewBox="0 0 16 16"'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${more}>${inner}</svg>`;
const PATH = '<path d="M1 1l2 2z"/>';

describe('the icon of an agent', () => {
  it('is drawn in one color, at one size', () => {
    const read = readPlainSvg(
      `<?xml version="1.0"?>\n<!-- made by hand -->\n<svg width="24px" height="24" fill="none" class="x">
        <title>An agent</title><g clip-path="url(#a)" fill-rule="evenodd"><path fill="#000" d="M1,1 L2 2Z" /></g>
        <defs><clipPath id="a"><rect width="24" height="24"/></clipPath></defs></svg>\n`,
    );
    assert.equal(
      read,
      '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24" fill="none">' +
        '<g fill-rule="evenodd"><path fill="currentColor" d="M1,1 L2 2Z"/></g></svg>',
    );
    assert.equal(readPlainSvg(read), read);
    const [, data = ''] = svgImage(read, '#C5C5C5').split('base64,');
    assert.match(Buffer.from(data, 'base64').toString(), /<path fill="#C5C5C5"/);
  });

  for (const [what, text] of [
    ['a script', svg(`<script>alert(1)</script>${PATH}`)],
    ['a handler', svg('<path d="M1 1" onload="alert(1)"/>')],
    ['a handler at the root', svg(PATH, 'viewBox="0 0 16 16" onload="alert(1)"')],
    ['a link', svg(`<a href="https://x.example">${PATH}</a>`)],
    ['an image', svg('<image href="https://x.example/a.png"/>')],
    ['a reference', svg('<use href="#a"/>')],
    ['an embedded page', svg('<foreignObject><p>text</p></foreignObject>')],
    ['a style', svg(`<style>path{fill:url(https://x.example)}</style>${PATH}`)],
    ['an inline style', svg('<path d="M1 1" style="fill:red"/>')],
    ['a paint from elsewhere', svg('<path d="M1 1" fill="url(https://x.example)"/>')],
    ['an animation', svg('<path d="M1 1"><animate attributeName="d"/></path>')],
    ['a filter', svg('<g filter="url(#a)"><path d="M1 1"/></g>')],
    ['text', svg('<text>Trust me</text>')],
    ['words between shapes', svg(`Trust me${PATH}`)],
    ['a document type', `<!DOCTYPE svg [<!ENTITY a "b">]>${svg(PATH)}`],
    ['an entity', svg('<path d="&a;"/>')],
    ['CDATA', svg('<![CDATA[<script/>]]>')],
    ['a colour', svg('<path d="M1 1" fill="red"/>')],
    ['a second root', svg(PATH) + svg(PATH)],
    ['no end', svg(PATH).replace('</svg>', '')],
    ['wrong nesting', svg('<g><path d="M1 1"></g></path>')],
    ['no size', svg(PATH, '')],
    ['another format', '\u0089PNG'],
    ['nothing', ''],
    ['too many shapes', svg(PATH.repeat(300))],
    ['too deep groups', svg('<g>'.repeat(30) + PATH + '</g>'.repeat(30))],
    ['too much text', svg(`<path d="${'M1 1'.repeat(5_000)}"/>`)],
  ] as const)
    it(`is not shown if it has ${what}`, () => assert.equal(readPlainSvg(text), undefined));
});
