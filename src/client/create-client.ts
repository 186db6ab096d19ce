import { platform } from '#platform'
import type { Client } from './client.ts'
import { composeClient } from './compose-client.ts'
import type { ClientOptions } from './options.ts'

/**
 * Makes a client. Synchronous; the journal opens with the first call that needs it.
 *
 * ```ts
 * const client = createClient({ baseUrl: 'https://api.example.com' })
 * const charge = await client.post('/charges', { json: { amount: 5000 } }).json()
 * ```
 */
export function createClient(options?: ClientOptions): Client {
  return composeClient(platform, options)
}
