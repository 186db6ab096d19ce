const SECRETS = {
  STRIPE_API_KEY: 'sk_test_1',
  OPENAI_API_KEY: 'sk-1',
  ANTHROPIC_API_KEY: 'sk-ant-1',
  GITHUB_TOKEN: 'ghp_1',
  AWS_ACCESS_KEY_ID: 'AKIA1',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'eu-central-1',
}

/** What the SDKs read from the environment of their process. */
export function setEnvironment(): void {
  Object.assign(process.env, SECRETS)
  // supabase-js does not start without one, and Node 20 has none. Not that of undici: to import undici is to give the
  // platform's fetch another agent.
  Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? class {} })
}
