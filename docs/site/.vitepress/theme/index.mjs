import DefaultTheme from 'vitepress/theme'
import { defineAsyncComponent } from 'vue'
import './custom.css'

/** Loaded by the pages that have them. */
const COMPONENTS = {
  DelaysAndLoad: () => import('../../components/delays-and-load.vue'),
  HistoryPlayer: () => import('../../components/history-player.vue'),
  MermaidDrawing: () => import('../../components/mermaid-drawing.vue'),
}

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    for (const [name, load] of Object.entries(COMPONENTS)) app.component(name, defineAsyncComponent(load))
  },
}
