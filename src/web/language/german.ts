/**
 * The German of every text of the pages for people. A key is the English text as it stands in the code: a text without its
 * German is a type error. `{name}` stands for a value. Pages say "Sie".
 */
export const GERMAN = {
  // The frame of every page
  Account: "Konto",
  Jobs: "Jobs",
  Statement: "Kontoauszug",
  Access: "Zugriff",
  Security: "Sicherheit",
  Console: "Konsole",
  "Your account": "Ihr Konto",
  "Skip to the content": "Zum Inhalt springen",
  "Sign out": "Abmelden",
  "Automatic top-up:": "Automatisches Aufladen:",
  "See how to go on": "So geht es weiter",
  Language: "Sprache",
  "Times are in": "Zeiten in",
  "Show UTC": "UTC zeigen",
  "Show {zone}": "{zone} zeigen",
  "Need help?": "Brauchen Sie Hilfe?",
  "Contact support": "Kundendienst fragen",
  "Write to {address}": "An {address} schreiben",
  "Something wrong?": "Stimmt etwas nicht?",
  "Contact support about {name}": "Den Kundendienst nach {name} fragen",
  Cancel: "Abbrechen",
  Copy: "Kopieren",
  Copied: "Kopiert",
  "Press Ctrl+C to copy": "Zum Kopieren Strg+C drücken",
  "{count} new": "{count} neue",
  "{count} or more new": "{count} oder mehr neue",

  // Problems and notices (layout/messages.ts)

  // Labels (layout/labels.ts)

  // Sign-in and sign-out

  // Consent, approval and device login

  // The account's overview, jobs and statement

  // Access, security and data

  // Purchases and automatic top-up
} as const;
