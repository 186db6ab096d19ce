/** `node crash.mjs call <origin>` posts; `node crash.mjs resume <origin>` does what a killed one has left. */
import { createClient } from 'holdfast'

const [mode, baseUrl] = process.argv.slice(2)
const client = createClient({ baseUrl })

if (mode === 'call') {
  await client.post('/charges', { json: { amount: 5000 } })
} else {
  const { claimed, succeeded } = await client.resume()
  await client.close()
  console.log(JSON.stringify({ claimed, succeeded }))
}
