/** The logo: a reading lamp over a desk. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#14503a" />
      <path d="M6.5 15.5c0-5.3 4.2-8 9.5-8s9.5 2.7 9.5 8z" fill="#a6d2bf" />
      <path d="M15 15.5h2V22h-2z" fill="#d9b158" />
      <path d="M9 22h14v2.5H9z" fill="#d9b158" />
    </svg>
  );
}
