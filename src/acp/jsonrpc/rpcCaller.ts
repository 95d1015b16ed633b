// The part of a connection that the dialects and proposals need.

export interface RpcCaller {
  request(
    method: string,
    params: unknown,
    options?: { signal?: AbortSignal; onSent?(id: string | number): void },
  ): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}
