export {
  type Idempotent,
  type NodeHandlerOptions,
  type NodeMiddleware,
  nodeHandler,
  nodeRetryContext,
} from '../http/node/node-handler.ts'
export type { NextFunction } from '../http/node/route-handlers.ts'
