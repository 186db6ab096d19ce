import { WebSocket } from 'undici'

/** What the SDKs read from their environment. */
Object.assign(process.env, {
  STRIPE_API_KEY: 'sk_test_1',
  OPENAI_API_KEY: 'sk-1',
  ANTHROPIC_API_KEY: 'sk-ant-1',
  GITHUB_TOKEN: 'ghp_1',
  AWS_ACCESS_KEY_ID: 'AKIA1',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'eu-central-1',
})

// supabase-js does not start without one, and Node 20 has none.
Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket })
