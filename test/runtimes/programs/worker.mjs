/** A Worker that posts with each journal, and says what it was told. */
import { createClient, memoryJournal } from 'holdfast'

async function post({ api, ...options }) {
  const client = createClient({ baseUrl: 'http://api.example', fetch: (...call) => api.fetch(...call), ...options })
  try {
    const handle = client.post('/charges', { json: { amount: 5000 } })
    const level = await handle.accepted
    const { key } = await handle.json()
    return { level, sameKey: key === handle.key }
  } catch (error) {
    return { name: error.name, message: error.message }
  } finally {
    await client.close()
  }
}

export default {
  async fetch(_request, { api }) {
    return Response.json({
      memory: await post({ api, journal: memoryJournal() }),
      none: await post({ api, journal: false }),
      fallback: await post({ api, journal: { fallback: 'memory' } }),
      default: await post({ api }),
    })
  },
}
