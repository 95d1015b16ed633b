// Tests how many bytes of an attachment are sent.
import { strict as assert } from 'node:assert';
import { sentBytes } from '../../../../src/client/prompts/promptContent';
import type { ContentBlock } from '../../../../src/session/events/content';

describe('the size of an attachment', () => {
  const all = { image: true, audio: true, embeddedContext: true };
  const none = { image: false, audio: false, embeddedContext: false };
  const of = (...forms: ContentBlock[]) => ({ id: 'a', kind: 'file' as const, label: 'a', forms });
  const text: ContentBlock = { type: 'text', text: 'é' };
  const link: ContentBlock = { type: 'resource_link', uri: 'file:///a', name: 'a' };
  const image: ContentBlock = { type: 'image', data: Buffer.from('12345').toString('base64'), mimeType: 'image/png' };

  it('is that of the form that the agent accepts', () => {
    const resource: ContentBlock = { type: 'resource', uri: 'file:///a', text: 'abc' };
    assert.equal(sentBytes(of(resource, text), all), 3);
    assert.equal(sentBytes(of(resource, text), none), 2);
    assert.equal(sentBytes(of(image, text), all), 5);
    assert.equal(sentBytes(of({ type: 'resource', uri: 'x:a', blob: 'AAAA' }), all), 3);
  });

  it('is undefined if only an address is sent', () => {
    assert.equal(sentBytes(of(link), all), undefined);
    assert.equal(sentBytes(of(image, link), none), undefined);
  });

  it('is that of the best form while the agent’s capabilities are unknown', () => {
    assert.equal(sentBytes(of(image, text), undefined), 5);
  });
});
