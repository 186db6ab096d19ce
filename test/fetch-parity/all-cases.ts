import { bodies } from './cases/bodies.ts'
import { failures } from './cases/failures.ts'
import { framing } from './cases/framing.ts'
import { headers } from './cases/headers.ts'
import { initMembers } from './cases/init-members.ts'
import { inputs } from './cases/inputs.ts'
import { methods } from './cases/methods.ts'
import { redirects } from './cases/redirects.ts'
import { requestStreams } from './cases/request-streams.ts'
import { responses } from './cases/responses.ts'
import { schemes } from './cases/schemes.ts'
import { signals } from './cases/signals.ts'
import { statuses } from './cases/statuses.ts'
import { streaming } from './cases/streaming.ts'
import { theFunction } from './cases/the-function.ts'
import type { ParityCase } from './support/parity-case.ts'

/** What a caller gives to fetch. */
export const requestCases: readonly ParityCase[] = [
  ...methods,
  ...headers,
  ...bodies,
  ...requestStreams,
  ...initMembers,
  ...inputs,
  ...schemes,
  ...theFunction,
]

/** What comes back, or does not. */
export const answerCases: readonly ParityCase[] = [
  ...signals,
  ...statuses,
  ...redirects,
  ...framing,
  ...streaming,
  ...responses,
  ...failures,
]
