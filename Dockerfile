# Both functions in one image, as `npm run image` makes it without a daemon: Node, and dist/ with its code caches.
FROM node:24-bookworm-slim AS build
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends openssl && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# the code caches must be made by the very Node that runs later
RUN node functions/build.ts

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/dist/*.cjs /src/dist/*.cache /app/
COPY --from=build /src/dist/scripts /app/scripts
ENV NODE_ENV=production
WORKDIR /app
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/node", "/app/reconcile.cjs"]
