import { requestCases } from './all-cases.ts'
import { nodeOnly } from './cases/node-only.ts'
import { compareInNode } from './support/compare-in-node.ts'

compareInNode([...requestCases, ...nodeOnly])
