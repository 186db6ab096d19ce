export {
  type InspectedLedger,
  type Inspector,
  type InspectorOptions,
  startInspector,
} from '../cli/inspect/start-inspector.ts'
