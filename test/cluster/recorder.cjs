// A sink that writes down what it gets, one JSON line a request. An object called s503 is answered 503, everything else 204.
const { createServer } = require('node:http');

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const status = Number(/^s(\d{3})/.exec(request.headers['ce-name'] ?? '')?.[1] ?? 204);
    const { method, url, rawHeaders } = request;
    if (method === 'POST') console.log(JSON.stringify({ url, rawHeaders, body }));
    response.writeHead(status).end();
  });
});
server.listen(Number(process.env.PORT ?? 8080), process.env.HOST);
server.once('listening', () => console.log(JSON.stringify({ listening: server.address().port })));
process.once('SIGTERM', () => process.exit(0));
