/** Posts with each journal, and says what the caller was told: `node post.mjs <origin>`. */
import { createClient, memoryJournal } from 'holdfast'

const [baseUrl] = process.argv.slice(2)

async function post(options) {
  const client = createClient({ baseUrl, ...options })
  try {
    const handle = client.post('/charges', { json: { amount: 5000 } })
    const level = await handle.accepted
    const { key } = await handle.json()
    const response = await client.get('/charges')
    return { level, sameKey: key === handle.key, got: response.status }
  } finally {
    await client.close()
  }
}

console.log(
  JSON.stringify({
    memory: await post({ journal: memoryJournal() }),
    default: await post({}),
    none: await post({ journal: false }),
  }),
)
