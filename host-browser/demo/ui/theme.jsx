/** Light or dark: as the system has it, or as the person chooses. */
import { useEffect } from 'preact/hooks';

export function ThemeChoice({ settings }) {
  useEffect(() => {
    document.documentElement.dataset.theme = settings.theme;
  }, [settings.theme]);
  return (
    <div class="theme">
      <label class="visually-hidden" for="theme">Colours</label>
      <select id="theme" value={settings.theme} onChange={({ target }) => settings.set({ theme: target.value })}>
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </div>
  );
}
