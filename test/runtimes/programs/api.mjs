/** The other side of worker.mjs: sends the key back. */
export default {
  fetch: (request) => Response.json({ key: request.headers.get('Idempotency-Key') }, { status: 201 }),
}
