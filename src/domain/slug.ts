/** The form of an app slug: it starts with a letter or digit, is lower case, and has at most 64 characters. */
export const APP_SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
