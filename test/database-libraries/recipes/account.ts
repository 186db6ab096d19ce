/** Yours: a session store, or a token whose signature is checked. */
const sessions = new Map([['Bearer 4f1d', 'account-7']])

/** Whose key it is. Throws without a session, so that no two callers share a scope. */
export function accountOf(request: Request): string {
  const account = sessions.get(request.headers.get('authorization') ?? '')
  if (!account) throw new Error('Log in first')
  return account
}
