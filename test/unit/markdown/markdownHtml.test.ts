// Markdown as HTML for exported pages: links, images and escaping.
import { strict as assert } from 'node:assert';
import { markdownHtml } from '../../../src/markdown/markdownHtml';

const PAGE = {
  details: 'Details',
  alerts: { note: 'Note', tip: 'Tip', important: 'Important', warning: 'Warning', caution: 'Caution' },
};

describe('Markdown as HTML', () => {
  const html = (text: string): string => markdownHtml(text, PAGE);

  it('links to web pages and mail addresses', () => {
    for (const address of ['https://x.y/z', 'HTTP://x.y', 'mailto:a@b.c'])
      assert.match(html(`[a](${address})`), /<a [^>]*href="/, address);
  });

  it('creates no other links, whatever the address contains', () => {
    for (const address of [
      'javascript:alert(1)',
      'javascript:alert(1)//https://x.y',
      'data:text/html,mailto:a@b.c',
      'vscode://x/?https://x.y',
      'command:x?http://x.y',
      'file:///etc/hosts',
      '//x.y/https://x.y',
      'src/a.ts',
    ])
      assert.doesNotMatch(html(`[a](${address})`), /href/, address);
  });

  it('shows only embedded images', () => {
    assert.match(html('![a](data:image/png;base64,AAAA)'), /<img [^>]*src="data:image\/png;base64,AAAA"/);
    for (const address of ['https://x.y/a.png', 'data:image/svg+xml;base64,AAAA', 'file:///a.png'])
      assert.doesNotMatch(html(`![a](${address})`), /<img/, address);
  });

  it('never turns text into markup', () => {
    for (const text of [
      '<script>alert(1)</script>',
      '`<b onclick=x>`',
      '```\n<img src=x>\n```',
      '[<img src=x>](https://x.y)',
      '[a](https://x.y/"onclick="x)',
      '# <img src=x onerror=x>',
      '| <script> |\n|--|\n| <script> |',
    ])
      assert.doesNotMatch(html(text), /<(?:script|img|b )|"onclick/, text);
  });
});
